-- A small database like Sakila: foreign keys, a view, a trigger, a function, FULLTEXT and SPATIAL indexes.
CREATE TABLE actor (
  actor_id smallint unsigned NOT NULL AUTO_INCREMENT,
  first_name varchar(45) NOT NULL,
  last_name varchar(45) NOT NULL,
  last_update timestamp NOT NULL DEFAULT current_timestamp() ON UPDATE current_timestamp(),
  PRIMARY KEY (actor_id), KEY idx_actor_last_name (last_name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
CREATE TABLE film (
  film_id smallint unsigned NOT NULL AUTO_INCREMENT,
  title varchar(128) NOT NULL,
  description text DEFAULT NULL,
  rating enum('G','PG','PG-13','R','NC-17') DEFAULT 'G',
  special_features set('Trailers','Commentaries') DEFAULT NULL,
  rental_rate decimal(4,2) NOT NULL DEFAULT 4.99,
  poster blob,
  PRIMARY KEY (film_id), KEY idx_title (title)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
CREATE TABLE film_actor (
  actor_id smallint unsigned NOT NULL,
  film_id smallint unsigned NOT NULL,
  PRIMARY KEY (actor_id, film_id), KEY idx_fk_film_id (film_id),
  CONSTRAINT fk_film_actor_actor FOREIGN KEY (actor_id) REFERENCES actor (actor_id) ON UPDATE CASCADE,
  CONSTRAINT fk_film_actor_film FOREIGN KEY (film_id) REFERENCES film (film_id) ON UPDATE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
CREATE TABLE film_text (
  film_id smallint unsigned NOT NULL, title varchar(255) NOT NULL, description text,
  PRIMARY KEY (film_id), FULLTEXT KEY idx_title_description (title, description)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
CREATE TABLE address (
  address_id smallint unsigned NOT NULL, address varchar(50) NOT NULL, location geometry NOT NULL,
  PRIMARY KEY (address_id), SPATIAL KEY idx_location (location)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
DELIMITER ;;
CREATE DEFINER=`root`@`localhost` TRIGGER ins_film AFTER INSERT ON film FOR EACH ROW BEGIN
    INSERT INTO film_text (film_id, title, description) VALUES (new.film_id, new.title, new.description);
  END;;
CREATE DEFINER=`root`@`localhost` FUNCTION films_of(a INT) RETURNS int READS SQL DATA
BEGIN
  DECLARE n INT;
  SELECT COUNT(*) INTO n FROM film_actor WHERE actor_id = a;
  RETURN n;
END;;
DELIMITER ;
INSERT INTO actor (first_name, last_name) VALUES ('PENELOPE','GUINESS'),('NICK','O''HARA'),('ED','x\\; \'y\' -- no comment'),('JÜRGEN','東京');
INSERT INTO film (title, description, special_features, poster) VALUES
  ('ACADEMY DINOSAUR', 'A "Epic" Drama; of a Feminist /* no comment */ # nor this', 'Trailers,Commentaries', 0x00FF275C),
  ('ACE GOLDFINGER', 'LOAD DATA INFILE ''x'' is only text; GRANT ALL too', NULL, NULL);
INSERT INTO film_actor VALUES (1,1),(1,2),(2,1);
INSERT INTO address VALUES (1, '47 MySakila Drive', ST_GeomFromText('POINT(1 2)'));
CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW film_list AS
  SELECT f.title AS title, a.last_name AS actor FROM film f JOIN film_actor USING (film_id) JOIN actor a USING (actor_id);
